import AsyncDI
import AsyncDIWiring
import CyclicWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
