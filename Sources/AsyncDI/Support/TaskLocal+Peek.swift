/// Tells whether a task-local is nil for the current task, without retaining what it holds.
///
/// Reading a task-local copies its value through generic code, several times as long as the look-up itself; on the hot
/// path only nil matters. The runtime gives the address of the innermost binding's value, nil when there is none.
///
/// The value is of the size of a pointer, because it is an optional object, whose nil is zero. A test binds, shadows
/// and unbinds a task-local and compares this with its value.
///
/// `@unchecked Sendable` because the pointer is the constant address of a task-local, which is a global and never goes.
struct TaskLocalPeek<Object: AnyObject & Sendable>: @unchecked Sendable {
    private let key: UnsafeRawPointer

    init(_ taskLocal: TaskLocal<Object?>) {
        // Unretained because a task-local is a global, which never goes.
        key = UnsafeRawPointer(Unmanaged.passUnretained(taskLocal).toOpaque())
    }

    var isNil: Bool {
        // Valid as long as the binding, which only this task ends, and not before this is over.
        guard let value = valueOfTaskLocal(key) else { return true }
        return value.load(as: UInt.self) == 0
    }

    /// The bound object.
    var object: Object? {
        // Valid as above; unretained because the binding holds a retain, and the result gets its own here.
        valueOfTaskLocal(key)?.load(as: UnsafeRawPointer?.self)
            .map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether nothing is bound, or this very object: one look-up.
    func isNil(or object: Object) -> Bool {
        guard let value = valueOfTaskLocal(key)?.load(as: UnsafeRawPointer?.self) else { return true }
        // Unretained because only addresses are compared, while the caller has the object.
        return value == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    /// Whether this very object is bound.
    func holds(_ object: Object) -> Bool {
        // Unretained because only addresses are compared, while the caller has the object.
        valueOfTaskLocal(key)?.load(as: UnsafeRawPointer?.self)
            == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
}

/// The runtime's look-up behind `TaskLocal.get()`, part of the ABI: the key is the task-local's own address.
@_silgen_name("swift_task_localValueGet")
private func valueOfTaskLocal(_ key: UnsafeRawPointer) -> UnsafeRawPointer?
