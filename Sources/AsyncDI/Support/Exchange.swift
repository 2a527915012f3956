/// Puts another value in the place of one, and returns the former: for the caller to release outside its lock.
func exchange<Value>(_ value: inout Value, for new: consuming Value) -> Value {
    swap(&value, &new)
    return new
}
