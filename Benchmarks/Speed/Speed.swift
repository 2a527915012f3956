import Benchmark
import Foundation

/// Every workload, beside the baseline that it is compared with.
///
/// `Benchmarks/table` runs each row in a process of its own, through `swift package benchmark`; run by itself, this
/// runs all rows (or those that `--filter` matches) in one process.
@main
enum Speed {
    static func main() {
        // The harness blocks the thread that it runs on. On a thread of the pool that would halve the pool of a small
        // machine.
        Task.detached(executorPreference: OwnThread()) {
            await BenchmarkRunner.setupBenchmarkRunner(registerBenchmarks: registerWorkloads)
            exit(0)
        }
        // Valgrind cannot run the main loop that an asynchronous `main` has on Linux.
        RunLoop.main.run()
    }

    private static func registerWorkloads() {
        registerRequests()
        registerJobs()
        registerHits()
        registerFloors()
        registerContention()
        registerMultitons()
        registerTransients()
        registerNested()
        registerGraphs()
        registerInitializers()
        registerGraphFloors()
        registerCreations()
        registerScopes()
        registerRegistrations()
        registerMemory()
        registerStart()
    }
}
