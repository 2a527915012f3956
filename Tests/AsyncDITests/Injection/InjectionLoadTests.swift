import Testing

@testable import AsyncDI

/// Which result counts, without a task.
struct InjectionLoadTests {
    /// The value in a class: `#expect` takes no mutating calls.
    private final class Load {
        typealias Request = InjectionLoad<Int>.Request

        private var load = InjectionLoad<Int>()

        func request(_ query: InjectionQuery<Int>, from container: Container?) -> Request {
            load.request(query, from: container)
        }
        func phase(of request: Request) -> InjectionPhase<Int> { load.phase(of: request) }
        @discardableResult func begin(_ request: Request) -> InjectionLoad<Int>.BeginAction { load.begin(request) }
        @discardableResult func finished(_ request: Request, with result: Result<Int, any Error>) -> Bool {
            load.finished(request, with: result)
        }
        func retry() -> Bool { load.retry() }
    }

    private struct Failure: Error {}

    private let query = InjectionQuery(Int.self, qualifier: nil)
    private let first = Container()
    private let second = Container()

    /// `loading`, the service or `failed`.
    private func phase(_ load: Load, of request: Load.Request) -> String {
        switch load.phase(of: request) {
        case .loading: "loading"
        case .ready(let service): "\(service)"
        case .failed: "failed"
        }
    }

    @Test func `a request is loading until it has its result`() {
        let load = Load()
        let request = load.request(query, from: first)
        #expect(phase(load, of: request) == "loading")
        #expect(load.begin(request) == .load)
        #expect(phase(load, of: request) == "loading")
        load.finished(request, with: .success(1))
        #expect(phase(load, of: request) == "1")
        #expect(load.phase(of: request).service == 1)
        #expect(load.phase(of: request).error == nil)
    }

    @Test func `the same container is asked once`() {
        let load = Load()
        let request = load.request(query, from: first)
        #expect(load.begin(request) == .load)
        load.finished(request, with: .success(1))
        #expect(load.begin(load.request(query, from: first)) == .keep)
        #expect(phase(load, of: request) == "1")
    }

    @Test func `a task that was cancelled without a result is begun again`() {
        let load = Load()
        let request = load.request(query, from: first)
        #expect(load.begin(request) == .load)
        #expect(load.begin(request) == .load)
    }

    @Test func `another container is loading at once, before anything has begun`() {
        let load = Load()
        let request = load.request(query, from: first)
        load.begin(request)
        load.finished(request, with: .success(1))
        #expect(phase(load, of: load.request(query, from: second)) == "loading")
        #expect(phase(load, of: load.request(query, from: nil)) == "loading")
    }

    @Test(arguments: [false, true])
    func `a result of the container before does not count`(isLate: Bool) {
        let load = Load()
        let old = load.request(query, from: first)
        let new = load.request(query, from: second)
        load.begin(old)
        load.begin(new)
        if isLate { #expect(load.finished(new, with: .success(2))) }
        #expect(!load.finished(old, with: .success(1)))
        if !isLate { #expect(load.finished(new, with: .success(2))) }
        #expect(phase(load, of: new) == "2")
    }

    @Test func `of two results of one request the first counts`() {
        let load = Load()
        let request = load.request(query, from: first)
        load.begin(request)
        #expect(load.finished(request, with: .success(1)))
        #expect(!load.finished(request, with: .success(2)))
        #expect(phase(load, of: request) == "1")
    }

    @Test func `a container that comes back is asked anew`() {
        let load = Load()
        let request = load.request(query, from: first)
        load.begin(request)
        load.finished(request, with: .success(1))
        load.begin(load.request(query, from: second))
        #expect(load.begin(request) == .load)
        #expect(phase(load, of: request) == "loading")
    }

    @Test func `after a retry the failure is forgotten and its request does not count`() {
        let load = Load()
        let failing = load.request(query, from: first)
        load.begin(failing)
        load.finished(failing, with: .failure(Failure()))
        #expect(load.phase(of: failing).error is Failure)
        #expect(load.begin(failing) == .keep)
        #expect(load.retry())
        let again = load.request(query, from: first)
        #expect(again != failing)
        #expect(phase(load, of: again) == "loading")
        #expect(!load.retry(), "twice in a row is once")
        #expect(load.begin(again) == .load)
        load.finished(failing, with: .failure(Failure()))
        load.finished(again, with: .success(1))
        #expect(phase(load, of: again) == "1")
    }

    @Test func `a retry does nothing while a request is loading or when its service is ready`() {
        let load = Load()
        #expect(!load.retry())
        let request = load.request(query, from: first)
        load.begin(request)
        #expect(!load.retry())
        load.finished(request, with: .success(1))
        #expect(!load.retry())
        #expect(phase(load, of: load.request(query, from: first)) == "1")
    }

    @Test func `qualifier and arguments tell requests apart`() {
        let load = Load()
        func request(_ query: InjectionQuery<Int>) -> Load.Request { load.request(query, from: first) }
        let plain = request(query)
        let qualified = request(InjectionQuery(Int.self, qualifier: "a"))
        let one = request(InjectionQuery(Int.self, qualifier: nil, arguments: 1))
        #expect(plain == request(InjectionQuery(Int.self, qualifier: nil)))
        #expect(plain != qualified)
        #expect(plain != one)
        #expect(one == request(InjectionQuery(Int.self, qualifier: nil, arguments: 1)))
        #expect(one != request(InjectionQuery(Int.self, qualifier: nil, arguments: 2)))
        #expect(one != request(InjectionQuery(Int.self, qualifier: nil, arguments: 1, 2)))
    }

    @Test func `a request keeps its container, so that no other one takes its place`() {
        weak var container: Container?
        let load = Load()
        do {
            let own = Container()
            container = own
            load.begin(load.request(query, from: own))
        }
        #expect(container != nil)
        load.begin(load.request(query, from: first))
        #expect(container == nil)
    }
}
