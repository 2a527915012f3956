// expect: conflicting arguments to generic parameter 'each Argument' ('Pack{Int}' vs. 'Pack{Double}')
import AsyncDI

final class Tile: Sendable {
    init(_ x: Double) {}
}

let container = Container {
    Registration(Tile.self, keyedBy: { (x: Int) in x }) { (_, x: Double) in Tile(x) }
}
