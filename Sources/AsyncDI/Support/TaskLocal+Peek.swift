/// Checks whether a task-local is nil for the current task, without retaining its value.
///
/// Reading a task-local copies its value through generic code, which takes several times as long as the look-up itself;
/// on the hot path only nil matters. The runtime returns the address of the innermost binding's value, nil without a
/// binding.
///
/// The value has the size of a pointer, because it is an optional object, whose nil is zero. A test binds, shadows and
/// unbinds a task-local and compares this with its value.
///
/// `@unchecked Sendable` because the pointer is the constant address of a task-local, a global that is never freed.
struct TaskLocalPeek<Object: AnyObject & Sendable>: @unchecked Sendable {
    private let key: UnsafeRawPointer

    init(_ taskLocal: TaskLocal<Object?>) {
        // Unretained because a task-local is a global that is never freed.
        key = UnsafeRawPointer(Unmanaged.passUnretained(taskLocal).toOpaque())
    }

    var isNil: Bool {
        // Valid as long as the binding, which only this task ends, and not before this call returns.
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
        // Unretained because only addresses are compared, while the caller holds the object.
        return value == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    /// Whether this very object is bound.
    func holds(_ object: Object) -> Bool {
        // Unretained because only addresses are compared, while the caller holds the object.
        valueOfTaskLocal(key)?.load(as: UnsafeRawPointer?.self)
            == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
}

/// The runtime's look-up behind `TaskLocal.get()`, part of the ABI: the key is the task-local's own address.
@_silgen_name("swift_task_localValueGet")
private func valueOfTaskLocal(_ key: UnsafeRawPointer) -> UnsafeRawPointer?
