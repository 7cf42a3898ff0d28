/* Waits by a token: only the GPU knows what it gave as one, so that the phase is found by what the
 * lane did: its last arrival at that mbarrier. */
#include "check/replay/internal.h"

enum { TOKEN_PHASE = 32 }; /* as the machine has tokens */

static uint32_t number_of(const Player *player, const PtxWarp *warp) {
    return warp->cta->number * player->reader.warps + warp->index + 1;
}

static Token *find(const Player *player, uint32_t warp, uint64_t place) {
    uint32_t mask = player->token_capacity - 1;
    uint32_t at = (uint32_t)(((place ^ (uint64_t)warp << 40) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (player->tokens[at].warp && (player->tokens[at].warp != warp || player->tokens[at].place != place))
        at = (at + 1) & mask;
    return &player->tokens[at];
}

static void grow(Player *player) {
    const Token *old = player->tokens;
    uint32_t capacity = player->token_capacity;
    player->token_capacity = capacity ? capacity * 2 : 256;
    player->tokens = ARENA_ARRAY(&player->arena, Token, player->token_capacity);
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i].warp)
            *find(player, old[i].warp, old[i].place) = old[i];
}

void tokens_see(Player *player, const PtxEvent *event) {
    bool arrives = event->kind == PTX_EVENT_ARRIVE || (event->kind == PTX_EVENT_EXPECT && event->arrives);
    if (!arrives || event->outstanding)
        return;
    if (player->token_count * 2 >= player->token_capacity)
        grow(player);
    uint32_t warp = number_of(player, event->warp);
    Token *token = find(player, warp, event->place);
    if (!token->warp) {
        token->warp = warp;
        token->place = event->place;
        player->token_count++;
    }
    token->lanes |= event->lanes;
    for (uint32_t rest = event->lanes; rest; rest &= rest - 1)
        token->phases[__builtin_ctz(rest)] = event->phase;
}

void tokens_set(Player *player, PtxGroup *group, const PlaySite *site, const Record *record) {
    Lanes values = {{0}};
    uint32_t known = 0;
    for (uint32_t rest = player->token_capacity ? record->lanes : 0; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        PtxLocation location;
        if (!play_location(player->machine, group, site->code, site->object, lane, &location))
            return;
        const Token *token = find(player, number_of(player, group->warp), ptx_place(location));
        if (!(token->lanes >> lane & 1))
            continue;
        known |= rest & -rest;
        values.at[lane] = (uint64_t)token->phases[lane] << TOKEN_PHASE;
    }
    play_set(player->machine, group, site->state, &values, known);
}
