/// Puts another value in the place of one, and returns the former.
///
/// A caller that holds a lock releases the former value outside it, by a use after the lock: the optimizer releases a
/// discarded result, and one that nothing uses, where it is made.
func exchange<Value>(_ value: inout Value, for new: consuming Value) -> Value {
    swap(&value, &new)
    return new
}
