internal import Base
internal import HTTPCodecs
internal import HTTPModel
internal import Sockets

/// Answers for the proxy itself, in the place of the origin that its name would have.
final class OwnResponder: OriginResponder {
    private let page: any OwnPage

    init(_ page: any OwnPage) {
        self.page = page
    }

    let fallsBack = false

    func protocols(of host: String, _ port: UInt16, offering names: [String]) -> [String] {
        ["h2", "http/1.1"]
    }

    func respond(to request: ResponderRequest) -> (any ResponderExchange)? {
        guard let place = request.place else { return OwnExchange(nil, isHead: false) }
        let answer = page.response(
            to: OwnRequest(
                head: request.head, isSecure: request.isSecure, target: request.target,
                address: place.address, listener: place.listener))
        return OwnExchange(answer, isHead: request.head.knownMethod == .head)
    }

    func dialogue(with host: String, _ port: UInt16) -> (any ResponderDialogue)? { nil }
    func noteUnanswered(_ host: String, _ port: UInt16) {}
}

/// One response, as a responder gives it.
private final class OwnExchange: ResponderExchange {
    private var steps: ArraySlice<ResponderStep>

    /// - Parameter answer: `nil` to break off.
    init(_ answer: OwnResponse?, isHead: Bool) {
        guard let answer, let head = answer.head else {
            steps = [.broken]
            return
        }
        let isAll = isHead || answer.content.isEmpty
        steps = [.head(head, isAll: isAll)]
        if !isAll { steps += [.content(answer.content), .end(trailers: .none)] }
    }

    func receive(_ content: Span<UInt8>) {}
    func noteEnd() {}
    func next() -> ResponderStep { steps.popFirst() ?? .broken }
}

extension OwnResponse {
    /// `nil` for fields that no head can have.
    fileprivate var head: ResponseHead? {
        var text = "HTTP/1.1 \(status) \(reasonPhrase(of: status))\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        text += "content-length: \(content.count)\r\n\r\n"
        do throws(HTTP1Violation) {
            return try ResponseReader.read([UInt8](text.utf8).span)?.head
        } catch {
            return nil
        }
    }
}
