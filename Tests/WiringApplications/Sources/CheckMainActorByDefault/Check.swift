import AsyncDI
import AsyncDIWiring
import MainActorByDefaultWiring

@main struct CheckWiring: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
