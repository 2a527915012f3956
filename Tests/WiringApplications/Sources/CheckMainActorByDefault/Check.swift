import AsyncDI
import AsyncDIWiring
import MainActorByDefaultWiring

@main struct Check: WiringCheck {
    var containers: [CheckedContainer] {
        [CheckedContainer(makeContainer())]
    }
}
