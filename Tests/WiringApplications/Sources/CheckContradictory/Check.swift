import AsyncDI
import AsyncDIWiring
import ContradictoryWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
