// expect: requires that 'Point' conform to 'Hashable'
import AsyncDI

struct Point: Sendable {}
final class Tile: Sendable {
    init(_ point: Point) {}
}

let container = Container {
    Registration(Tile.self, keyedBy: { (point: Point) in point }) { _, point in Tile(point) }
}
