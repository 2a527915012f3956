/// Not private: a type that conforms to a private protocol cannot be looked up by name.
enum Zoo {
    protocol Pet: Sendable {}
    protocol Animal: Sendable {}
    struct Cat: Pet, Animal {}
    struct Stone: Sendable {}
}
