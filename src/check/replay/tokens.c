/* Waits by a token: only the GPU knows what it gave as one, so that the phase is found by what the
 * lane did: its last arrival at that mbarrier. */
#include "check/replay/internal.h"

enum { TOKEN_PHASE = 32 }; /* as the machine has tokens */

static uint32_t number_of(const Player *player, const PtxWarp *warp) {
    return warp->cta->number * player->reader.warps + warp->index + 1;
}

typedef struct TokenKey {
    uint64_t place;
    uint32_t warp;
} TokenKey;
TABLE(token, TokenTable, Token, TokenKey, 256, item->warp, ((TokenKey){item->place, item->warp}),
      table_hash(key.place ^ (uint64_t)key.warp << 40), item->warp == key.warp && item->place == key.place)

void tokens_see(Player *player, const PtxEvent *event) {
    bool arrives = event->kind == PTX_EVENT_ARRIVE || (event->kind == PTX_EVENT_EXPECT && event->arrives);
    if (!arrives || event->outstanding)
        return;
    uint32_t warp = number_of(player, event->warp);
    Token *token = token_put(&player->arena, &player->tokens, (TokenKey){event->place, warp});
    token->warp = warp;
    token->place = event->place;
    token->lanes |= event->lanes;
    for (uint32_t rest = event->lanes; rest; rest &= rest - 1)
        token->phases[__builtin_ctz(rest)] = event->phase;
}

void tokens_set(Player *player, PtxGroup *group, const PlaySite *site, const Record *record) {
    Lanes values = {{0}};
    uint32_t known = 0;
    for (uint32_t rest = record->lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        PtxLocation location;
        if (!play_location(player->machine, group, site->code, site->object, lane, &location))
            return;
        TokenKey key = {ptx_place(location), number_of(player, group->warp)};
        const Token *token = token_find(&player->tokens, key);
        if (!token || !(token->lanes >> lane & 1))
            continue;
        known |= rest & -rest;
        values.at[lane] = (uint64_t)token->phases[lane] << TOKEN_PHASE;
    }
    play_set(player->machine, group, site->state, &values, known);
}
