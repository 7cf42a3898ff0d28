/* A program that crashes: what it has launched is written before it ends, so that a crash does not hide its cause.
 *
 * The handler of a fatal signal can do nothing itself: another thread waits for it, and writes. Signals that the
 * program handles are left alone. */
#include "runtime/record/gpu.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds between two looks, and how many there are: ten seconds, if a lock is held where it crashed. */
enum { NAP = 5000000, MOST_NAPS = 2000 };
static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static sem_t crashed;
static bool written;
static pid_t owner; /* a child that was forked has not the thread */

static void *write_last(void *unused) {
    while (sem_wait(&crashed) != 0)
        ;
    gpu_finish();
    __atomic_store_n(&written, true, __ATOMIC_RELEASE);
    return unused;
}

/* Then the signal does what it does without this: an instruction that faults is run again. */
static void on_crash(int number, siginfo_t *info, void *context) {
    (void)context;
    if (getpid() == owner)
        sem_post(&crashed);
    for (int i = 0; getpid() == owner && i < MOST_NAPS && !__atomic_load_n(&written, __ATOMIC_ACQUIRE); i++)
        nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    signal(number, SIG_DFL);
    if (info->si_code <= 0) /* a process sent it */
        raise(number);
}

void crash_watch(void) {
    pthread_t thread;
    struct sigaction mine = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    sigset_t all, kept;
    sigemptyset(&mine.sa_mask);
    sigfillset(&all); /* the program's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    bool begun = sem_init(&crashed, 0, 0) == 0 && pthread_create(&thread, NULL, write_last, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    if (!begun)
        return;
    owner = getpid();
    pthread_detach(thread);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (sigaction(fatal[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(fatal[i], &mine, NULL);
}
