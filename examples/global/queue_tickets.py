"""A queue without locks: tickets say whose slot it is, and each slot says for which ticket it is ready."""

import triton
import triton.language as tl

from cases import Case, Fault, Launch, tensor
from signals import WIDTH, row, tell, wait_for

SLOTS = tl.constexpr(4)


@triton.jit
def queue_tickets(source, out, ring, ready, tail, head, items, VARIANT: tl.constexpr):
    """Even programs put items into a ring of slots, odd ones take them out. A slot is free for ticket T when it says T,
    and filled when it says T + 1; it is free again for ticket T + SLOTS."""
    if tl.program_id(0) % 2 == 0:
        ticket = tl.atomic_add(tail, 1, sem="relaxed")
        while ticket < items:
            slot = ticket % SLOTS
            if VARIANT != "no_room":
                wait_for(ready + slot, ticket, "relaxed" if VARIANT == "no_acquire_free" else "acquire")
            tl.store(ring + row(slot), tl.load(source + row(ticket)))
            tell(ready + slot, ticket + 1, "relaxed" if VARIANT == "no_release_filled" else "release")
            ticket = tl.atomic_add(tail, 1, sem="relaxed")
    else:
        ticket = tl.atomic_add(head, 1, sem="relaxed")
        while ticket < items:
            slot = ticket % SLOTS
            wait_for(ready + slot, ticket + 1, "relaxed" if VARIANT == "no_acquire_filled" else "acquire")
            value = tl.load(ring + row(slot))
            following = ticket + SLOTS + (1 if VARIANT == "wrong_ticket" else 0)
            tell(ready + slot, following, "relaxed" if VARIANT == "no_release_free" else "release")
            tl.store(out + row(ticket), value)
            ticket = tl.atomic_add(head, 1, sem="relaxed")


CASES = [
    Case("Items go through a ring of slots, whose tickets say who may use them", [
        Launch(queue_tickets, (8,), dict(
            source=tensor(16, WIDTH), out=tensor(16, WIDTH, output=True),
            ring=tensor(SLOTS, WIDTH, output=True),
            ready=tensor(SLOTS, dtype="i32", data=list(range(SLOTS))),
            tail=tensor(1, dtype="i32", zero=True), head=tensor(1, dtype="i32", zero=True), items=16)),
    ], dict(
        no_release_filled=Fault("race.raw", "Who fills a slot does not release it"),
        no_acquire_filled=Fault("race.raw", "Who empties a slot does not acquire what is in it"),
        no_release_free=Fault("race.war", "Who empties a slot does not release it, so that filling it again does not "
                              "come after the reading"),
        no_acquire_free=Fault("race.war", "Who fills a slot again does not acquire that it has been read"),
        no_room=Fault("race.war,race.waw,race.raw,deadlock.grid", "A slot is filled again without waiting for it to be "
                      "empty"),
        wrong_ticket=Fault("deadlock.grid", "A slot is made free for a ticket that never comes to it"),
    ), lambda torch, memory, before: torch.equal(memory["out"], before["source"])),
]
