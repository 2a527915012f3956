/// Facts about a request for logs and answers.
package struct RequestInfo: Sendable {
    package let id: String
    package let method: String
    package let path: String

    package init(id: String, method: String, path: String) {
        self.id = id
        self.method = method
        self.path = path
    }
}
