internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Pushes

/// What a provider asks for, as far as it can be judged without knowing the device.
struct PushRequest {
    let token: String
    private(set) var id: String?
    private(set) var topic = ""
    private(set) var type: PushType?
    private(set) var priority = 10
    private(set) var collapseID: String?
    /// In seconds since 1970; `nil` if it was not given.
    private(set) var expiration: Int64?

    struct Refusal: Error {
        let reason: PushReason
    }

    private typealias Check = @Sendable (inout PushRequest, ServerRequest) -> PushReason?

    /// In this order, which decides what a request with several faults is told; Apple's own is not
    /// documented.
    private static let checks: [Check] = [
        { _, request in hasDuplicates(request) ? .duplicateHeaders : nil },
        { $0.readID($1) },
        { _, request in request.method == .post ? nil : .methodNotAllowed },
        { $0.readType($1) },
        { $0.readTopic($1) },
        { $0.readCollapseID($1) },
        { $0.readPriority($1) },
        { $0.readExpiration($1) },
        { push, _ in push.hasToken ? nil : .badDeviceToken },
    ]

    /// - Parameter id: taken as soon as it is known to be valid, for a refusal has it too.
    init(_ request: ServerRequest, id: inout String?) throws(Refusal) {
        token = request.match["token"].map(\.asciiLowercased).text
        for check in Self.checks {
            let reason = check(&self, request)
            id = self.id
            if let reason { throw Refusal(reason: reason) }
        }
    }

    private static func hasDuplicates(_ request: ServerRequest) -> Bool {
        names.contains { request.fields.all(named: $0).count > 1 }
    }

    private static func value(_ name: StaticString, _ request: ServerRequest) -> [UInt8]? {
        request.fields.first(named: name).map { [UInt8]($0.trimmingWhitespace) }
    }

    private mutating func readID(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-id", request) else { return nil }
        let dashes = [8, 13, 18, 23]
        guard text.count == 36,
            text.indices.allSatisfy({
                dashes.contains($0) ? text[$0] == UInt8(ascii: "-") : text[$0].hexDigitValue != nil
            })
        else { return .badMessageId }
        id = text.text
        return nil
    }

    private mutating func readType(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-push-type", request) else { return nil }
        type = PushType(rawValue: text.text)
        return type == nil ? .invalidPushType : nil
    }

    private mutating func readTopic(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-topic", request), !text.isEmpty else {
            return .missingTopic
        }
        let suffix = type?.suffix ?? ""
        let isName = text.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x5F].contains($0)
        }
        guard text.count <= Self.topicLimit, isName, text.count > suffix.utf8.count,
            text.text.hasSuffix(suffix)
        else { return .badTopic }
        topic = text.dropLast(suffix.utf8.count).text
        return nil
    }

    private mutating func readCollapseID(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-collapse-id", request) else { return nil }
        guard !text.isEmpty, text.count <= 64 else { return .badCollapseId }
        collapseID = text.text
        return nil
    }

    private mutating func readPriority(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-priority", request) else {
            // A silent push that does not say is not one that says 10.
            if type == .background { priority = 5 }
            return nil
        }
        guard let number = decimal(text), [10, 5, 1].contains(number),
            number != 10 || type != .background
        else { return .badPriority }
        priority = Int(number)
        return nil
    }

    private mutating func readExpiration(_ request: ServerRequest) -> PushReason? {
        guard let text = Self.value("apns-expiration", request) else { return nil }
        guard let number = decimal(text) else { return .badExpirationDate }
        // Beyond any date that there is, and far from where sums overflow.
        expiration = Int64(min(number, 1 << 40))
        return nil
    }

    private var hasToken: Bool {
        token.utf8.count == 64 && token.utf8.allSatisfy { $0.hexDigitValue != nil }
    }

    private static let names: [StaticString] = [
        "apns-id", "apns-push-type", "apns-topic", "apns-collapse-id", "apns-priority",
        "apns-expiration", "authorization",
    ]
    private static let topicLimit = 200
}
