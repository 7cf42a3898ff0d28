/* The public API: textures. What an H200 has read at some places of two of them is what is read here, bit for bit. */
#include <weir/device.h>

#include "expect.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 48, SKIPPED = 16 * WIDTH * HEIGHT };

/* Clamped, with coordinates in texels. */
typedef struct Sample {
    int linear;
    float x, y, real, byte; /* what a texture of floats gives there, and one of four bytes, of 0 to 1 */
} Sample;
static const Sample samples[] = {
    {0, 0x0p+0F, 0x1.edc5p+1F, 0x1.b14bfcp+5F, 0x1.818182p-1F},
    {0, 0x1.353fcp+2F, 0x1.01ee3cp+5F, 0x1.8618fp+5F, 0x1.414142p-6F},
    {0, 0x1.98p+5F, 0x1.20698p+5F, 0x1.a45b1cp+4F, 0x1.919192p-1F},
    {0, 0x1.b5186p+4F, 0x1.a73b6p+4F, 0x1.58b1ap+3F, 0x1.e5e5e6p-2F},
    {0, 0x1.cc708p+1F, 0x1.e5d66p+2F, 0x1.446fep+5F, 0x1.010102p-8F},
    {0, 0x1.92c68p+5F, 0x1.48a07cp+5F, -0x1.74a2acp+3F, 0x1.89898ap-2F},
    {0, 0x1.28a1cp+5F, 0x1.2p+4F, 0x1.46d2f4p+5F, 0x1.333334p-1F},
    {0, 0x1.18cfcp+2F, 0x1.2810b8p+5F, -0x1.49dfd8p+2F, 0x1.b1b1b2p-3F},
    {0, 0x1.4792dp+4F, 0x1.bbbe78p+4F, 0x1.312b34p+4F, 0x1.bfbfcp-1F},
    {0, 0x1.e896a8p+4F, 0x1.b8p+4F, 0x1.c72b8p+5F, 0x1.717172p-4F},
    {0, 0x1.7951ap+4F, 0x1.3c1a4p+4F, -0x1.6ee68p+1F, 0x1.010102p-4F},
    {0, 0x1.c4036p+2F, 0x1.c3de4p+1F, 0x1.dbb8ep+0F, 0x1.dddddep-1F},
    {1, 0x1.fffc68p+5F, 0x1.ff728p-1F, 0x1.6f408p+0F, 0x1.adb1aep-3F},
    {1, 0x1.0478p+0F, 0x1.6cp+5F, 0x1.b11404p+5F, 0x1.458546p-2F},
    {1, 0x1.212b58p+5F, 0x1.657f5p+4F, -0x1.8570ap+3F, 0x1.c21bc2p-1F},
    {1, 0x1.6523bp+4F, 0x1.ddcf28p+4F, 0x1.28699ep+3F, 0x1.0ac10ap-2F},
    {1, 0x1.e74a98p+5F, 0x1.fa069p+4F, 0x1.e83786p+4F, 0x1.6bb96cp-2F},
    {1, 0x1.a88d54p+5F, 0x1.f4bf2p+3F, 0x1.39bbccp+4F, 0x1.76d576p-2F},
    {1, 0x1.853e4p+2F, 0x1.51cf28p+5F, 0x1.fd9308p+4F, 0x1.ab05acp-2F},
    {1, 0x1.42fa8p+2F, 0x1.fb4728p+3F, 0x1.5d00d6p+4F, 0x1.1d771ep-1F},
    {1, 0x1.e2e74p+3F, 0x1.2d1a1p+4F, 0x1.f8655p+4F, 0x1.52fd52p-1F},
    {1, 0x1.2ada6p+5F, 0x1.b2701p+4F, 0x1.969e9p+5F, 0x1.dda1dep-3F},
    {1, 0x1.71cafcp+5F, 0x1.6d1cp-1F, 0x1.ba3d32p+3F, 0x1.7b017cp-2F},
    {1, 0x1.78p+5F, 0x1.abd1ep+4F, 0x1.af9d1ap+4F, 0x1.9cc19cp-3F},
};
enum { COUNT = sizeof samples / sizeof *samples };

static const char read_texture[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry read_texture(.param .u64 t, .param .u64 at, .param .u64 out) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd<8>; .reg .f32 %f<8>;\n"
    "  ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [at]; ld.param.u64 %rd3, [out]; mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd4, %r1, 8; add.s64 %rd5, %rd2, %rd4; ld.global.v2.f32 {%f1, %f2}, [%rd5];\n"
    "  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];\n"
    "  mul.wide.u32 %rd6, %r1, 4; add.s64 %rd7, %rd3, %rd6; st.global.f32 [%rd7], %f3; ret;\n}\n";

static float reals[WIDTH * HEIGHT], at[2 * COUNT], out[COUNT];
static unsigned char bytes[4 * WIDTH * HEIGHT];
static _Alignas(16) unsigned char handle[128];

static float roll(unsigned *state) {
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / 16777216.0F;
}

int main(void) {
    unsigned state = 1;
    for (unsigned i = 0; i < SKIPPED; i++) {
        float value = roll(&state) * 100 - 30;
        if (i < WIDTH * HEIGHT)
            reals[i] = value;
    }
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(roll(&state) * 256);
    for (unsigned i = 0; i < COUNT; i++) {
        at[2 * i] = samples[i].x;
        at[2 * i + 1] = samples[i].y;
    }
    weir_context *context = weir_create();
    weir_file *file = weir_open_buffer(context, "test.ptx", read_texture, strlen(read_texture));
    weir_module *module = weir_parse(file, 0, 0);
    weir_device *device = weir_device_create();
    CHECK(module && device);
    CHECK(!weir_device_memory(device, reals, sizeof reals, "reals", 1));
    CHECK(!weir_device_memory(device, bytes, sizeof bytes, "bytes", 1));
    CHECK(!weir_device_memory(device, at, sizeof at, "at", 1) &&
          !weir_device_memory(device, out, sizeof out, "out", 1));
    CHECK(!weir_device_memory(device, handle, sizeof handle, "handle", 1));
    for (unsigned i = 0; i < 4; i++) {
        int linear = i & 1, real = i < 2;
        weir_texture texture = {.address = (uintptr_t)(real ? (void *)reals : (void *)bytes),
                                .pitch = 4 * WIDTH,
                                .size = {WIDTH, HEIGHT, 0},
                                .channels = real ? 1 : 4,
                                .bits = real ? 32 : 8,
                                .kind = real ? 2 : 1,
                                .mode = {1, 1, 1},
                                .linear = linear,
                                .floats = !real};
        void *places[] = {handle, at, out};
        void *parameters[] = {&places[0], &places[1], &places[2]};
        weir_device_launch launch = {
            .grid = {1, 1, 1}, .block = {COUNT, 1, 1}, .parameters = parameters, .parameter_count = 3};
        CHECK(!weir_device_texture(&texture, handle));
        CHECK(weir_device_run(device, module, &launch) == WEIR_DEVICE_DONE);
        for (unsigned k = 0; k < COUNT; k++)
            CHECK(samples[k].linear != linear || out[k] == (real ? samples[k].real : samples[k].byte));
        weir_result *result = weir_device_check(device, module, &launch, NULL);
        CHECK(weir_result_verdict(result) == WEIR_VERDICT_CLEAN);
        weir_result_free(result);
    }
    weir_texture none = {.size = {8, 0, 0}, .channels = 1, .bits = 24};
    CHECK(weir_device_texture(&none, handle) == -1);
    weir_device_forget(device, module);
    weir_device_destroy(device);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(context);
    return failures != 0;
}
