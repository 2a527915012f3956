import AsyncDI
import AsyncDIWiring
import RightWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [
            CheckedContainer(makeContainer(), resolving: Clerk.self)
                .scope("request", resolving: Handler.self) {
                    Registration(expected: Request.self)
                }
        ]
    }
}
