internal import Base
internal import HTTPServer

/// A submitted form; names and passwords are short.
struct CollectedForm {
    private let items: [FormItem]

    /// Errors: as `RequestBody.collect`.
    init(_ body: RequestBody) async throws(Failure) {
        items = FormItem.parse(try await body.collect(byteLimit: Self.byteLimit)[...])
    }

    /// The first value of this name.
    subscript(name: String) -> [UInt8]? {
        items.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static let byteLimit = 65_536
}

extension ServerResponse {
    /// What a client is told whose content cannot be read.
    static func unreadable(_ failure: Failure) -> ServerResponse {
        .plain(failure.code == "request-too-large" ? 413 : 400)
    }
}
