// expect: invalid redeclaration of synthesized property '_users'
import AsyncDI
import Observation

protocol UserRepository: Sendable {}

@MainActor @Observable final class ProfileScreenModel {
    @Inject var users: any UserRepository
}
