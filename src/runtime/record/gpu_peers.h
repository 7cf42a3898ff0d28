/* Memory and events that other processes have, too: the order log knows them by keys that are the same in all processes
 * (docs/programs.md). Memory is physical memory of the driver (cuMemCreate), wherever and however often it is mapped,
 * or an allocation that was handed over as it is (cuIpcGetMemHandle). */
#ifndef RUNTIME_RECORD_GPU_PEERS_H
#define RUNTIME_RECORD_GPU_PEERS_H

#include "runtime/driver.h"
#include "trace/file.h"

#include <stdbool.h>

/* Whether there is such memory, or was. */
bool peers_on(void);
/* There is from now on. */
void peers_begin(void);
/* Whether the address is in some. */
bool peers_has(DevicePointer address);
/* What there is of it, from number `*at` on. */
bool peers_next(uint32_t *at, RecordingMemory *memory);

/* Physical memory was made; its handle is counted once more, or once less. */
void peers_created(uint64_t handle, uint64_t bytes);
void peers_retained(uint64_t handle);
void peers_released(uint64_t handle);
/* It is mapped; and before it is no more. */
void peers_mapped(DevicePointer at, uint64_t bytes, uint64_t offset, uint64_t handle);
void peers_unmapped(DevicePointer at, uint64_t bytes);
/* Others can have it by that file descriptor; it comes from one. False: which memory it is, is not known. */
bool peers_exported(uint64_t handle, int file);
bool peers_imported(uint64_t handle, int file);

/* An allocation that others can open by a handle, or that is opened by one; `bytes` 0: they are not known, and it
 * returns false. And it is closed. */
bool peers_handed(DevicePointer at, uint64_t bytes, const IpcHandle *handle);
bool peers_opened(DevicePointer at, uint64_t bytes, const IpcHandle *handle);
void peers_closed(DevicePointer at);
/* An event that others can open by the handle, or that is opened by it. */
void peers_event(Handle event, const IpcHandle *handle);

/* This thread is in the call that makes its next launch: it learns nothing from other processes before that. */
void peers_calls(void);
/* The log is to have all memory that launches may access from here on. */
void peers_announce(void);

#endif
