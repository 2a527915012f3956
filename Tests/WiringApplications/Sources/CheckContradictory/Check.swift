import AsyncDI
import AsyncDIWiring
import ContradictoryWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
