// expect: mutation of captured var 'count' in concurrently-executing code
import AsyncDI

func compose() -> Container {
    var count = 0
    return Container {
        Registration(Int.self) { _ in
            count += 1
            return count
        }
    }
}
