package import Base
internal import Contents
internal import Origins

/// What a management server says of an app: a small dictionary of keys that are known, each with its
/// type and range. The server is a stranger: what is wrong counts as not said.
package struct ManagedConfiguration: Sendable, Equatable {
    /// `interval`: `never`, `minimum`, or seconds up to a year as a number or a text.
    package private(set) var interval: RefreshInterval?
    /// `feeds`: up to 256 URLs by http or https, none of them on this machine or in the local network
    /// unless the server is there itself.
    package private(set) var feeds: [String]?
    /// `allowsCellular`: true or false.
    package private(set) var allowsCellular: Bool?
    /// How many keys nobody knows.
    package private(set) var ignoredCount = 0
    /// How many values have another type, or are out of range.
    package private(set) var wrongCount = 0

    package static let keys = ["interval", "feeds", "allowsCellular"]
    /// In bytes: a dictionary is small; documents are behind URLs.
    package static let byteLimit = 64 << 10

    /// Reads a dictionary. Where it says nothing, everything is `nil`.
    ///
    /// - Parameter server: the host that it came from.
    ///
    /// Errors: `managed-invalid` for what is no JSON object, `managed-secret` for one with a key that
    /// looks like a secret: dictionaries are stored unprotected, so that none may be in one.
    package init(_ bytes: [UInt8], from server: String) throws(Failure) {
        guard bytes.count <= Self.byteLimit, let document = JSONDocument(bytes),
            let row = JSONObject(document)
        else {
            throw Failure(
                "managed-invalid", party: .origin,
                "the managed configuration is no JSON object of up to \(Self.byteLimit) bytes")
        }
        if let secret = Self.secret(in: document, JSONDocument.root, depth: 0) {
            throw Failure(
                "managed-secret", party: .origin,
                "the managed configuration has the key \(secret.withoutUnseen), which names a secret",
                hint: "configurations are stored unprotected: give the app its secret another way")
        }
        ignoredCount = row.names.count { !Self.keys.contains($0) }
        take(row, from: server)
    }

    private mutating func take(_ row: JSONObject, from server: String) {
        if row.has("interval") {
            let text = row.integer("interval").map(String.init) ?? row.text("interval")
            interval = text.flatMap(RefreshInterval.init)
            if interval == nil { wrongCount += 1 }
        }
        if row.has("feeds") {
            feeds = row.texts("feeds").flatMap { Self.feeds($0, from: server) }
            if feeds == nil { wrongCount += 1 }
        }
        if row.has("allowsCellular") {
            allowsCellular = row.boolean("allowsCellular")
            if allowsCellular == nil { wrongCount += 1 }
        }
    }

    /// All of them, or `nil` if there are none, too many, or one that cannot be fetched, or is none of
    /// the server's business.
    private static func feeds(_ urls: [String], from server: String) -> [String]? {
        guard (1...RefreshStore.feedLimit).contains(urls.count) else { return nil }
        do throws(Failure) {
            for url in urls {
                // The app fetches from where its server cannot reach by itself.
                let host = try OriginLocation(url).target.host
                guard LocalNetwork.mayLead(from: server, to: host) else { return nil }
            }
        } catch {
            return nil
        }
        return urls
    }

    /// The first key, at any depth, that names a secret.
    private static func secret(
        in document: JSONDocument, _ place: Int, depth: Int
    ) -> String? {
        guard depth < depthLimit else { return nil }
        switch document[place].kind {
        case .object:
            for member in document.members(of: place) {
                let name = document.key(of: member.name).text
                if SecretName.isField(name) { return name }
                if let found = secret(in: document, member.value, depth: depth + 1) { return found }
            }
        case .array:
            for element in document.elements(of: place) {
                if let found = secret(in: document, element, depth: depth + 1) { return found }
            }
        default: break
        }
        return nil
    }

    private static let depthLimit = 32
}
