import AsyncDI
import AsyncDIWiring
import UnsuppliedWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [
            CheckedContainer(makeContainer())
                .scope("request", resolving: Handler.self) { Registration(expected: Request.self) }
                .scope("job", resolving: Handler.self)
        ]
    }
}
