// expect: capture of 'counter' with non-Sendable type 'Counter' in a '@Sendable' closure
import AsyncDI

final class Counter {
    var count = 0
}

func compose() -> Container {
    let counter = Counter()
    return Container {
        Registration(Int.self) { _ in
            counter.count += 1
            return counter.count
        }
    }
}
