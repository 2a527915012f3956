import AsyncDI
import AsyncDIWiring
import CaptiveWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
