/// A health check that did not return in time, and runs on: until it ends, its instance is not checked again.
struct UnansweredCheck {
    let key: CreationKey
    let end: Completion
}
