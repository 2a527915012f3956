import AsyncDI
import AsyncDIWiring
import MismatchedWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
