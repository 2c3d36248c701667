// The workload `w2` of `burntrace bench` by hand: RK4 in a 64^3 grid of 10 frames, linear in space and time, f32.
//
//     nvcc -O3 -arch=native -Xptxas -v step.cu -o step && ./step          # prints registers, too
//     g++ -O2 -x c++ step.cu -o step && ./step 1000                       # on the CPU, to check it without a card
//
// Prints the speed as the median of nine launches, registers and theoretical occupancy, and the mean end point, by which builds
// are compared. A thread takes a particle through all steps.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#ifdef __CUDACC__
#define ON_DEVICE __device__ __forceinline__
#define KERNEL __global__
#else
#define ON_DEVICE static inline
#define KERNEL static
struct float4 { float x, y, z, w; };
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
#endif

constexpr int NODES = 64, FRAMES = 10, STEPS = 200, BLOCK = 128, REPEATS = 9;
constexpr float DT = 0.01f, FRAME_TIME = 2.0f / (FRAMES - 1);

ON_DEVICE float4 mix(float4 a, float4 b, float t) {
    return make_float4(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z), 0.0f);
}

ON_DEVICE float4 move(float4 p, float4 v, float h) {
    return make_float4(p.x + h * v.x, p.y + h * v.y, p.z + h * v.z, 0.0f);
}

// The cell of a coordinate, and the place in it.
ON_DEVICE int cell(float x, float &part) {
    float at = fminf(fmaxf(x * (NODES - 1), 0.0f), float(NODES - 1));
    int i = int(fminf(at, float(NODES - 2)));
    part = at - i;
    return i;
}

ON_DEVICE float4 row(const float4 *f, float4 part) {
    const int y = NODES, z = NODES * NODES;
    float4 low = mix(mix(f[0], f[1], part.x), mix(f[y], f[y + 1], part.x), part.y);
    float4 high = mix(mix(f[z], f[z + 1], part.x), mix(f[z + y], f[z + y + 1], part.x), part.y);
    return mix(low, high, part.z);
}

ON_DEVICE float4 sample(const float4 *field, float4 p, float t) {
    float4 part = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int i = cell(p.x, part.x), j = cell(p.y, part.y), k = cell(p.z, part.z);
    float at = fminf(t / FRAME_TIME, float(FRAMES - 1));
    int frame = int(fminf(at, float(FRAMES - 2)));
    const float4 *first = field + ((long(frame) * NODES + k) * NODES + j) * NODES + i;
    return mix(row(first, part), row(first + NODES * NODES * NODES, part), at - frame);
}

ON_DEVICE void trace(const float4 *field, float4 *position, int n, int i) {
    if (i >= n) return;
    float4 p = position[i];
    for (int s = 0; s < STEPS; s++) {
        float t = s * DT;
        float4 a = sample(field, p, t);
        float4 b = sample(field, move(p, a, 0.5f * DT), t + 0.5f * DT);
        float4 c = sample(field, move(p, b, 0.5f * DT), t + 0.5f * DT);
        float4 d = sample(field, move(p, c, DT), t + DT);
        p.x += DT / 6.0f * (a.x + 2.0f * (b.x + c.x) + d.x);
        p.y += DT / 6.0f * (a.y + 2.0f * (b.y + c.y) + d.y);
        p.z += DT / 6.0f * (a.z + 2.0f * (b.z + c.z) + d.z);
    }
    position[i] = p;
}

#ifdef __CUDACC__
KERNEL void launch(const float4 *field, float4 *position, int n) {
    trace(field, position, n, blockIdx.x * blockDim.x + threadIdx.x);
}
#endif

// The flow of the workloads; see `crates/bench/src/flow.rs`.
static float4 velocity(double x, double y, double z, double t) {
    const double pi = 3.14159265358979323846, tau = 2.0 * pi;
    double a = 0.5 * (1.0 + 0.3 * sin(tau * t / 4.0));
    double b = 0.25 * (1.0 + 0.5 * cos(tau * t / 2.0));
    double c = 0.4 * (1.0 + 0.4 * sin(tau * t / 3.0 + 1.0));
    double u = a * sin(pi * x) * cos(pi * y) - c * sin(pi * x) * cos(pi * z);
    double v = b * sin(tau * y) * cos(tau * z) - a * cos(pi * x) * sin(pi * y);
    double w = c * cos(pi * x) * sin(pi * z) - b * cos(tau * y) * sin(tau * z);
    return make_float4(float(u), float(v), float(w), 0.0f);
}

static std::vector<float4> field() {
    std::vector<float4> all;
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < NODES; k++)
            for (int j = 0; j < NODES; j++)
                for (int i = 0; i < NODES; i++) {
                    double per = 1.0 / (NODES - 1);
                    all.push_back(velocity(i * per, j * per, k * per, 2.0 * f / (FRAMES - 1)));
                }
    return all;
}

// The random numbers of the workloads; see `crates/bench/src/random.rs`.
static float uniform(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return float(0.02 + 0.96 * (double(z >> 11) / double(1ull << 53)));
}

static std::vector<float4> seeds(int n) {
    std::vector<float4> all;
    for (uint64_t i = 0; i < uint64_t(n); i++)
        all.push_back(make_float4(uniform(7, 3 * i), uniform(7, 3 * i + 1), uniform(7, 3 * i + 2), 0.0f));
    return all;
}

#ifdef __CUDACC__
static void check(cudaError_t error) {
    if (error != cudaSuccess) {
        fprintf(stderr, "error: %s\n", cudaGetErrorString(error));
        exit(1);
    }
}

static std::vector<double> run(const std::vector<float4> &values, std::vector<float4> &position) {
    int n = int(position.size());
    float4 *field, *on_card;
    check(cudaMalloc(&field, values.size() * sizeof(float4)));
    check(cudaMalloc(&on_card, n * sizeof(float4)));
    check(cudaMemcpy(field, values.data(), values.size() * sizeof(float4), cudaMemcpyHostToDevice));
    std::vector<double> seconds;
    for (int r = 0; r <= REPEATS; r++) {
        check(cudaMemcpy(on_card, position.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
        check(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        launch<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(field, on_card, n);
        check(cudaDeviceSynchronize());
        std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (r > 0) seconds.push_back(passed.count());
    }
    check(cudaMemcpy(position.data(), on_card, n * sizeof(float4), cudaMemcpyDeviceToHost));
    int blocks;
    cudaFuncAttributes attributes;
    cudaDeviceProp card;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch, BLOCK, 0));
    check(cudaFuncGetAttributes(&attributes, launch));
    check(cudaGetDeviceProperties(&card, 0));
    printf("%s: %d registers, occupancy %.2f\n", card.name, attributes.numRegs,
           double(blocks * BLOCK) / card.maxThreadsPerMultiProcessor);
    return seconds;
}
#else
static std::vector<double> run(const std::vector<float4> &values, std::vector<float4> &position) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < int(position.size()); i++)
        trace(values.data(), position.data(), int(position.size()), i);
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return {passed.count()};
}
#endif

int main(int count, char **arguments) {
    int n = count > 1 ? atoi(arguments[1]) : 100000;
    if (n < 1) {
        fprintf(stderr, "error: the number of particles is '%s'; give 1 or more\n", arguments[1]);
        return 2;
    }
    std::vector<float4> position = seeds(n);
    std::vector<double> seconds = run(field(), position);
    std::sort(seconds.begin(), seconds.end());
    double median = seconds[seconds.size() / 2], mean[3] = {0.0, 0.0, 0.0};
    for (float4 p : position) {
        mean[0] += p.x / n;
        mean[1] += p.y / n;
        mean[2] += p.z / n;
    }
    printf("%d particles x %d steps: %.3f ms, %.1f M particle-steps/s, mean end point %.6f %.6f %.6f\n", n, STEPS,
           1e3 * median, 1e-6 * n * STEPS / median, mean[0], mean[1], mean[2]);
}
