import AsyncDI
import AsyncDIWiring
import CaptiveWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
