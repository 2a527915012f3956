import AsyncDI
import AsyncDIWiring
import LargeWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
