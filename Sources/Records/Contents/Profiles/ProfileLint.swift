internal import Base

/// What is wrong with a configuration profile, by what devices want of it.
package struct ProfileLint {
    package struct Finding: Sendable, Equatable {
        package enum Code: String, Sendable, CaseIterable {
            case notAPropertyList = "not-a-property-list"
            case missingKey = "missing-key"
            case duplicateKey = "duplicate-key"
            case wrongType = "wrong-type"
            case wrongValue = "wrong-value"
            case invalidUUID = "invalid-uuid"
            case duplicateUUID = "duplicate-uuid"
            case duplicateIdentifier = "duplicate-identifier"
            case foreignIdentifier = "foreign-identifier"
            case unknownPayload = "unknown-payload"
            case secret = "secret"
        }

        package let code: Code
        /// Where: keys, and the numbers of elements in brackets, with dots between.
        package let path: String
        package let text: String

        /// Whether a device takes the profile all the same.
        package var isWarning: Bool {
            switch code {
            case .foreignIdentifier, .unknownPayload, .secret: true
            default: false
            }
        }
    }

    private var findings: [Finding] = []
    private var uuids: Set<[UInt8]> = []
    private var identifiers: Set<[UInt8]> = []

    /// Judges a profile that is not signed, or what was taken from one that is.
    package static func findings(_ bytes: [UInt8]) -> [Finding] {
        let tree = PropertyListTree(bytes)
        guard tree.isWhole, !tree.root.children.isEmpty else {
            return [
                Finding(
                    code: .notAPropertyList, path: "",
                    text: "it is no well-formed property list in XML with a dictionary")
            ]
        }
        var lint = ProfileLint()
        lint.judgeProfile(tree.root)
        return lint.findings
    }

    private mutating func add(_ code: Finding.Code, _ path: String, _ text: String) {
        guard findings.count < Self.limit else { return }
        findings.append(Finding(code: code, path: path, text: text))
    }

    // MARK: The profile and its payloads

    private mutating func judgeProfile(_ root: PropertyListTree.Node) {
        judgeKeys(root, at: "")
        judgeCommon(root, at: "", type: "Configuration")
        require("PayloadContent", .container, in: root, at: "")
        optional("PayloadRemovalDisallowed", .boolean, in: root, at: "")
        optional("PayloadDisplayName", .string, in: root, at: "")
        optional("PayloadOrganization", .string, in: root, at: "")
        optional("RemovalDate", .date, in: root, at: "")
        let identifier = root["PayloadIdentifier"]?.bytes ?? []
        for (index, payload) in (root["PayloadContent"]?.children ?? []).enumerated() {
            let path = "PayloadContent[\(index)]"
            judgeCommon(payload, at: path, type: nil)
            let own = payload["PayloadIdentifier"]?.bytes ?? []
            if !own.isEmpty, !own.starts(with: identifier + [0x2E]) {
                add(
                    .foreignIdentifier, "\(path).PayloadIdentifier",
                    "it does not begin with the profile's and a dot")
            }
            judgePayload(payload, at: path)
        }
    }

    /// A key that comes twice in one dictionary: what readers make of that differs.
    private mutating func judgeKeys(_ node: PropertyListTree.Node, at path: String) {
        var seen: Set<[UInt8]> = []
        var index = 0
        for child in node.children {
            var step = child.name.text
            if child.isElement {
                step = "[\(index)]"
                index += 1
            } else if !seen.insert(child.name).inserted {
                add(.duplicateKey, Self.path(path, step), "the key comes twice")
            }
            judgeKeys(child, at: Self.path(path, step))
        }
    }

    private mutating func judgeCommon(
        _ node: PropertyListTree.Node, at path: String, type: String?
    ) {
        require("PayloadType", .string, in: node, at: path)
        require("PayloadIdentifier", .string, in: node, at: path)
        require("PayloadVersion", .integer, in: node, at: path)
        require("PayloadUUID", .string, in: node, at: path)
        if let type, let own = node["PayloadType"], !own.bytes.elementsEqual(type.utf8) {
            add(.wrongValue, Self.path(path, "PayloadType"), "it must be \(type)")
        }
        if let version = node["PayloadVersion"], version.tag == .integer,
            !version.bytes.elementsEqual("1".utf8)
        {
            add(.wrongValue, Self.path(path, "PayloadVersion"), "it must be 1")
        }
        if let uuid = node["PayloadUUID"]?.bytes {
            let place = Self.path(path, "PayloadUUID")
            if !Self.isUUID(uuid) { add(.invalidUUID, place, "it is no UUID") }
            if !uuids.insert(uuid.map(\.asciiLowercased)).inserted {
                add(.duplicateUUID, place, "another payload has it, too")
            }
        }
        if let identifier = node["PayloadIdentifier"]?.bytes,
            !identifiers.insert(identifier).inserted
        {
            add(
                .duplicateIdentifier, Self.path(path, "PayloadIdentifier"),
                "another payload has it, too")
        }
    }

    private mutating func judgePayload(_ payload: PropertyListTree.Node, at path: String) {
        guard let type = payload["PayloadType"]?.bytes.text else { return }
        guard let rules = ProfileRule.all[type] else {
            return add(.unknownPayload, "\(path).PayloadType", "\(type) is not known here")
        }
        for rule in rules { judge(rule, payload, at: path) }
    }

    private mutating func judge(
        _ rule: ProfileRule, _ node: PropertyListTree.Node, at path: String
    ) {
        switch rule {
        case .required(let key, let tag): require(key, tag, in: node, at: path)
        case .optional(let key, let tag): optional(key, tag, in: node, at: path)
        case .oneOf(let key, let values):
            guard let own = node[key] else { return }
            if !values.contains(where: { own.bytes.elementsEqual($0.utf8) }) {
                add(
                    .wrongValue, Self.path(path, key),
                    "it must be \(values.joined(separator: " or "))")
            }
        case .port(let key):
            guard let own = node[key], own.tag == .integer else { return }
            if !(1...65_535).contains(decimal(own.bytes) ?? 0) {
                add(.wrongValue, Self.path(path, key), "a port is 1 to 65535")
            }
        case .url(let key, let schemes):
            guard let own = node[key], own.tag == .string else { return }
            let isKnown = schemes.contains { own.bytes.starts(with: "\($0)://".utf8) }
            if !isKnown {
                add(
                    .wrongValue, Self.path(path, key),
                    "its scheme must be \(schemes.joined(separator: " or "))")
            }
        case .secret(let key):
            if node[key] != nil {
                add(.secret, Self.path(path, key), "who has the profile has this, too")
            }
        case .ifEqual(let key, let value, let rules):
            guard let own = node[key], own.bytes.elementsEqual(value.utf8) else { return }
            for rule in rules { judge(rule, node, at: path) }
        case .anyOf(let keys):
            if !keys.contains(where: { node[$0] != nil }) {
                add(.missingKey, path, "one of \(keys.joined(separator: ", ")) is needed")
            }
        case .inside(let key, let rules):
            guard let inner = node[key] else { return }
            for rule in rules { judge(rule, inner, at: Self.path(path, key)) }
        case .eachElement(let key, let rules):
            guard let list = node[key] else { return }
            if list.children.isEmpty { add(.wrongValue, Self.path(path, key), "it is empty") }
            for (index, element) in list.children.enumerated() {
                for rule in rules { judge(rule, element, at: "\(Self.path(path, key))[\(index)]") }
            }
        }
    }

    private mutating func require(
        _ key: String, _ tag: PropertyListTree.Tag, in node: PropertyListTree.Node,
        at path: String
    ) {
        guard node[key] != nil else {
            return add(.missingKey, Self.path(path, key), "it is missing")
        }
        optional(key, tag, in: node, at: path)
    }

    private mutating func optional(
        _ key: String, _ tag: PropertyListTree.Tag, in node: PropertyListTree.Node,
        at path: String
    ) {
        guard let own = node[key], own.tag != tag else { return }
        add(.wrongType, Self.path(path, key), "it must be \(tag.words)")
    }

    private static func path(_ path: String, _ step: String) -> String {
        path.isEmpty || step.hasPrefix("[") ? path + step : "\(path).\(step)"
    }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == 36
            && bytes.indices.allSatisfy {
                [8, 13, 18, 23].contains($0)
                    ? bytes[$0] == UInt8(ascii: "-") : bytes[$0].hexDigitValue != nil
            }
    }

    /// How many findings are told.
    private static let limit = 200
}

/// What one key of a payload must be.
indirect enum ProfileRule: Sendable {
    case required(String, PropertyListTree.Tag)
    case optional(String, PropertyListTree.Tag)
    case oneOf(String, [String])
    case port(String)
    case url(String, [String])
    /// A key that says something that no profile should.
    case secret(String)
    case anyOf([String])
    case ifEqual(String, String, [ProfileRule])
    case inside(String, [ProfileRule])
    case eachElement(String, [ProfileRule])

    /// By payload type.
    static let all: [String: [ProfileRule]] = [
        "com.apple.security.root": certificate, "com.apple.security.pkcs1": certificate,
        "com.apple.security.pem": certificate,
        "com.apple.proxy.http.global": [
            .required("ProxyType", .string), .oneOf("ProxyType", ["Manual", "Auto"]),
            .ifEqual(
                "ProxyType", "Manual",
                [.required("ProxyServer", .string), .required("ProxyServerPort", .integer)]),
            .ifEqual("ProxyType", "Auto", [.url("ProxyPACURL", ["http", "https"])]),
            .optional("ProxyPACURL", .string), .port("ProxyServerPort"),
            .optional("ProxyPACFallbackAllowed", .boolean),
            .optional("ProxyCaptiveLoginAllowed", .boolean), .secret("ProxyPassword"),
        ],
        "com.apple.relay.managed": [
            .required("Relays", .container),
            .eachElement(
                "Relays",
                [
                    .anyOf(["HTTP2RelayURL", "HTTP3RelayURL"]), .url("HTTP2RelayURL", ["https"]),
                    .url("HTTP3RelayURL", ["https"]),
                    .optional("AdditionalHTTPHeaderFields", .container),
                ]),
            .optional("MatchDomains", .container), .optional("ExcludedDomains", .container),
        ],
        "com.apple.sso": [
            .required("Name", .string), .required("Kerberos", .container),
            .inside(
                "Kerberos",
                [
                    .required("Realm", .string), .optional("PrincipalName", .string),
                    .optional("URLPrefixMatches", .container),
                    .optional("AppIdentifierMatches", .container),
                ]),
        ],
        "com.apple.extensiblesso": [
            .required("ExtensionIdentifier", .string), .required("Type", .string),
            .oneOf("Type", ["Credential", "Redirect"]),
            .ifEqual(
                "Type", "Credential",
                [.required("Hosts", .container), .required("Realm", .string)]),
            .ifEqual("Type", "Redirect", [.required("URLs", .container)]),
            .optional("ExtensionData", .container),
        ],
        "com.apple.ManagedClient.preferences": [.required("PayloadContent", .container)],
    ]

    private static let certificate: [ProfileRule] = [
        .required("PayloadContent", .data), .optional("PayloadCertificateFileName", .string),
    ]
}
