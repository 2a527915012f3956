// expect: closure containing control flow statement cannot be used with result builder 'RegistrationBuilder'
import AsyncDI

enum Environment { case live, test }

func compose(_ environment: Environment) -> Container {
    Container {
        switch environment {
        case .live: Registration(Int.self, instance: 1)
        case .test: break
        }
    }
}
