import Synchronization

/// Baseline **S**: typed cells behind an atomically published, immutable table, read in a `nonisolated(nonsending)`
/// function.
///
/// It never frees a table that it has published, so that a reader needs no protection: nothing that does free them can
/// be faster.
///
/// `@unchecked Sendable` because the table pointer is atomic and writers are expected to take turns.
final class SnapshotCells: @unchecked Sendable {
    private final class Table: Sendable {
        let cells: [ObjectIdentifier: Cell]
        init(_ cells: [ObjectIdentifier: Cell]) { self.cells = cells }
    }

    private let published = Atomic<UnsafeRawPointer?>(nil)

    private func current() -> Table? {
        published.load(ordering: .acquiring).map { Unmanaged<Table>.fromOpaque($0)._withUnsafeGuaranteedRef { $0 } }
    }

    func store<Value: Sendable>(_ type: Value.Type, _ value: Value) {
        var cells = current()?.cells ?? [:]
        cells[ObjectIdentifier(type)] = TypedCell(value)
        published.store(UnsafeRawPointer(Unmanaged.passRetained(Table(cells)).toOpaque()), ordering: .releasing)
    }

    nonisolated(nonsending) func resolve<Value: Sendable>(_ type: Value.Type) async throws -> Value {
        guard let pointer = published.load(ordering: .acquiring) else { throw Missing() }
        return try Unmanaged<Table>.fromOpaque(pointer)._withUnsafeGuaranteedRef { table in
            guard let cell = table.cells[ObjectIdentifier(type)] else { throw Missing() }
            return unsafeDowncast(cell, to: TypedCell<Value>.self).value
        }
    }
}

/// The error of the baselines.
struct Missing: Error {}

/// A value whose type the code that looks it up knows.
class Cell: @unchecked Sendable {}

final class TypedCell<Value: Sendable>: Cell, @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
