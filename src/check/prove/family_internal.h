/* What the files about families of runs share. */
#ifndef CHECK_PROVE_FAMILY_INTERNAL_H
#define CHECK_PROVE_FAMILY_INTERNAL_H

#include "base/visit.h"
#include "check/prove/family.h"
#include "machine/tile/step/machine_internal.h"

typedef enum FamilyPointKind {
    POINT_PLAIN,
    POINT_OPEN,  /* gives something unknown */
    POINT_TRIPS, /* gives a trip count */
    POINT_LOOSE, /* gives something that is not the same each time */
    POINT_BRANCH,
    POINT_LOOP,
} FamilyPointKind;

/* Of an instruction. */
typedef struct FamilyPoint {
    Instruction was; /* in the program as it was compiled */
    FamilyPointKind kind;
    bool silent;       /* BRANCH, LOOP: up to `end` nothing is done that others could see */
    bool own;          /* LOOP: it goes by registers that are not the program's */
    uint32_t end;      /* behind it */
    uint32_t count;    /* TRIPS */
    uint64_t times;    /* OPEN, of loads: how often it was run */
    uint64_t operands; /* TRIPS: what it was made of in this run; 0: it was not run */
} FamilyPoint;

/* How a register changed from one head of a loop to the next: for how long in the same direction. */
typedef struct FamilyStreak {
    int64_t last;
    int32_t up, down;
    bool known;
} FamilyStreak;

typedef struct FamilyAgent {
    Shifts of_mmas, of_finished; /* of Agent.mmas and Agent.finished */
    uint32_t finished;
    bool begun;
} FamilyAgent;

/* A state at the head of a loop. */
typedef struct FamilySnapshot {
    struct FamilySnapshot *next;
    uint64_t a, b; /* hashes of the state, but for registers that count */
    uint32_t agent, pc, count;
    Word *words;
    Shifts *shifts;
    uint32_t *mmas, *finished; /* of agents */
} FamilySnapshot;

/* A period that has to be gone through once more. */
typedef struct FamilyPending {
    bool is;
    uint32_t agent, pc, lane;
    int64_t at; /* what the loop has counted to then */
    uint64_t a, b;
    const FamilySnapshot *before; /* s1 */
    Word *words;                  /* of s2 */
    Shifts *shifts;
} FamilyPending;

typedef struct RecurrenceHash RecurrenceHash;

struct Family {
    Arena *arena;
    const Program *original;
    Program program;
    Machine *machine;
    FamilyVisit *visit;
    void *context;
    FamilyPoint *points;  /* by instruction */
    uint32_t control;     /* the first register for loops that count their trips, three each */
    uint32_t kept;        /* behind them: registers that are given a value wherever they are read */
    uint32_t *parameters; /* by register of the function: the trip count that it is, + 1 */
    bool *counting;       /* [strand][register]: what it holds only counts */
    bool *uneven;         /* the same: what it holds grows by more or less from period to period */
    int64_t *grains;      /* the same: what is known to divide that in all periods; 0: no more than a period shows */
    TripCount counts[MOST_TRIP_COUNTS];
    uint32_t count_count;
    uint64_t conditions[MOST_CONDITIONS];
    uint32_t condition_count;
    FamilyGrowth growth[MOST_TRIP_COUNTS];
    /* Of a run: */
    FamilyRun run;
    ShiftLanes lanes;
    Shifts *shifts; /* of each agent's registers */
    FamilyStreak *streaks;
    FamilyAgent *agents;
    FamilySnapshot *snapshots, *spare;
    uint32_t snapshot_count;
    uint64_t heads;
    FamilyPending pending[MOST_TRIP_COUNTS];
    uint32_t anchors[MOST_TRIP_COUNTS]; /* the agent whose loops are looked at, + 1; 0: the next that comes */
    RecurrenceHash *hash;
    bool is_new, learned;
    const char *problem;
    const Op *problem_op;
};

static inline Word *family_words(const Family *family, uint32_t agent) {
    return machine_words(family->machine, agent);
}

static inline Shifts *family_shifts(const Family *family, uint32_t agent) {
    return family->shifts + (size_t)agent * family->program.most_registers;
}

/* ---- family.c ---- */
void family_instruction(void *follower, uint32_t agent, const Instruction *instruction);
/* The run is no proof, and ends. */
void family_fail(Family *family, const Instruction *instruction, const char *why);

/* ---- family_launch.c ---- */
void family_set(const Family *family, uint32_t agent, uint32_t reg, Word word, Shifts shifts);
/* How a trip count differs from run to run. */
Shifts family_trip_shifts(const Family *family, uint32_t count);
/* What a condition is; of one that is not known, what was chosen. */
bool family_condition(Family *family, uint32_t agent, uint32_t reg, const Instruction *instruction);
/* Instructions that give a trip count, or something unknown; branches, loops, heads of loops. */
void family_define(Family *family, uint32_t agent, uint32_t pc);
void family_open(Family *family, uint32_t agent, uint32_t pc);
void family_branch(Family *family, uint32_t agent, uint32_t pc);
void family_enter(Family *family, uint32_t agent, uint32_t pc);
void family_loop_head(Family *family, uint32_t agent, uint32_t pc);

/* ---- recurrence.c ---- */
void family_prepare_hash(Family *family);
/* The agent enters the loop whose head is there: states of an earlier time through it are of no use. */
void family_entered(Family *family, uint32_t agent, uint32_t pc);
/* The agent is at the head of a loop. */
void family_head(Family *family, uint32_t agent, uint32_t pc);

#endif
