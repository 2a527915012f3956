// libFuzzer's inputs as operations on a container: `Fuzzing/run`.

import Exploration
import FuzzerDriver

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

Deterministic.restartOnce()
Explorer.takeThread()

func failure(of program: Program, isTold: Bool) -> ExplorationFailure? {
    Explorer().run(seed: program.seed, steps: 100) { explored in
        var player = Player(program, explored, isTold: isTold)
        await player.play()
    }
}

exit(
    fuzzer_run { bytes, count in
        let program = Program(Array(UnsafeBufferPointer(start: bytes, count: count)))
        guard let first = failure(of: program, isTold: false) else { return 0 }
        // Runs the program again, with a note of every operation.
        print(failure(of: program, isTold: true) ?? first)
        print("  registered at first: \(program.recipes)")
        fflush(nil)
        abort()
    })
