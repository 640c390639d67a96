/// A TLS host of the server, as clients find it in a list.
package struct ContentHost: Sendable {
    /// Such as `time-expired.sallyport.test`.
    package let name: String
    package let title: String
    /// What a client must make of it: `accept`, `refuse`, `warn` or `inform`.
    package let expectation: String

    package init(name: String, title: String, expectation: String) {
        self.name = name
        self.title = title
        self.expectation = expectation
    }
}
