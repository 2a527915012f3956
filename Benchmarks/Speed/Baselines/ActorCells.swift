/// Baseline **A**: typed cells in a dictionary in an actor.
actor ActorCells {
    private var cells: [ObjectIdentifier: Cell] = [:]

    func store<Value: Sendable>(_ type: Value.Type, _ value: Value) {
        cells[ObjectIdentifier(type)] = TypedCell(value)
    }

    func resolve<Value: Sendable>(_ type: Value.Type) throws -> Value {
        guard let cell = cells[ObjectIdentifier(type)] else { throw Missing() }
        return unsafeDowncast(cell, to: TypedCell<Value>.self).value
    }
}
