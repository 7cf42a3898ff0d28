// Textures and surfaces of every shape: by coordinates, levels, gradients; gathers, layers, cubes; surfaces read and written.
extern "C" __global__ void reads(float4 *out, cudaTextureObject_t texture, float x) {
    float4 sum = make_float4(0, 0, 0, 0);
    auto add = [&](float4 value) {
        sum.x += value.x, sum.y += value.y, sum.z += value.z, sum.w += value.w;
    };
    float y = x * 0.5f, z = x * 0.25f;
    add(tex1Dfetch<float4>(texture, (int)threadIdx.x));
    add(tex1D<float4>(texture, x));
    add(tex2D<float4>(texture, x, y));
    add(tex3D<float4>(texture, x, y, z));
    add(tex1DLayered<float4>(texture, x, 1));
    add(tex2DLayered<float4>(texture, x, y, 2));
    add(texCubemap<float4>(texture, x, y, z));
    add(texCubemapLayered<float4>(texture, x, y, z, 3));
    add(tex2DLod<float4>(texture, x, y, 1.5f));
    add(tex3DLod<float4>(texture, x, y, z, 0.5f));
    add(tex2DGrad<float4>(texture, x, y, make_float2(x, y), make_float2(y, x)));
    add(tex3DGrad<float4>(texture, x, y, z, make_float4(x, y, z, 0), make_float4(z, y, x, 0)));
    add(tex2DLayeredLod<float4>(texture, x, y, 1, 2.0f));
    add(texCubemapLod<float4>(texture, x, y, z, 1.0f));
    add(tex2Dgather<float4>(texture, x, y, 2));
    int4 whole = tex2D<int4>(texture, x, y);
    uint2 two = tex3D<uint2>(texture, x, y, z);
    short4 narrow = tex2D<short4>(texture, x, y);
    bool resident;
    add(tex2D<float4>(texture, x, y, &resident));
    sum.x += (float)(whole.x + (int)two.y + narrow.z) + (resident ? 1.0f : 0.0f);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t surface, int *out) {
    int x = (int)threadIdx.x * 16, y = (int)blockIdx.x;
    float4 four = surf2Dread<float4>(surface, x, y, cudaBoundaryModeClamp);
    int one = surf1Dread<int>(surface, x, cudaBoundaryModeZero);
    uchar2 bytes = surf3Dread<uchar2>(surface, x, y, 3);
    ushort4 layered = surf2DLayeredread<ushort4>(surface, x, y, 1);
    longlong2 wide = surf2Dread<longlong2>(surface, x, y);
    int2 cube = surfCubemapread<int2>(surface, x, y, 2);
    surf2Dwrite(four, surface, x, y, cudaBoundaryModeTrap);
    surf1Dwrite(one + 1, surface, x, cudaBoundaryModeClamp);
    surf3Dwrite(bytes, surface, x, y, 4, cudaBoundaryModeZero);
    surf2DLayeredwrite(layered, surface, x, y, 2);
    surf1DLayeredwrite(wide, surface, x, 1);
    surfCubemapLayeredwrite(cube, surface, x, y, 7);
    unsigned width, height;
    asm("suq.width.b32 %0, [%1];" : "=r"(width) : "l"(surface));
    asm("suq.height.b32 %0, [%1];" : "=r"(height) : "l"(surface));
    out[threadIdx.x] = one + (int)four.y + (int)width * (int)height + (int)wide.x;
}
