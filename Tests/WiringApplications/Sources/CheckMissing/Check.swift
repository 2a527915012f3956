import AsyncDI
import AsyncDIWiring
import MissingWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
