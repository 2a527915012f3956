/// A dictionary that rarely has many entries: the first ones are compared one by one, because hashing takes longer.
struct SmallMap<Key: Hashable, Value> {
    private struct Entry {
        let key: Key
        var value: Value
    }

    private var few: [Entry] = []
    private static var mostOfFew: Int { 8 }
    private var many: [Key: Value] = [:]

    var isEmpty: Bool { few.isEmpty && many.isEmpty }
    var count: Int { few.count + many.count }
    var all: [(key: Key, value: Value)] { few.map { ($0.key, $0.value) } + many.map { ($0.key, $0.value) } }

    subscript(key: Key) -> Value? {
        get {
            if let index = index(of: key) { return few[index].value }
            return many.isEmpty ? nil : many[key]
        }
        set {
            if let index = index(of: key) {
                if let newValue { few[index].value = newValue } else { few.remove(at: index) }
            } else if let newValue, few.count < Self.mostOfFew, many.isEmpty || many[key] == nil {
                if few.isEmpty { few.reserveCapacity(4) }
                few.append(Entry(key: key, value: newValue))
            } else if newValue != nil || !many.isEmpty {
                many[key] = newValue
            }
        }
    }

    /// Removes a value and returns it with the key under which it was stored, which the caller may release elsewhere.
    mutating func take(_ key: Key) -> (key: Key, value: Value)? {
        if let index = index(of: key) {
            let entry = few.remove(at: index)
            return (entry.key, entry.value)
        }
        return many.index(forKey: key).map { many.remove(at: $0) }
    }

    private func index(of key: Key) -> Int? {
        // In place: a loop over the array would copy each entry.
        few.withUnsafeBufferPointer { entries in
            guard let first = entries.baseAddress else { return nil }
            for index in 0..<entries.count where (first + index).pointee.key == key { return index }
            return nil
        }
    }
}
