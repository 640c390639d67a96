internal import Base
internal import Contents

/// JSON-RPC over a stream: what miners log in to pools with, the passwords of wallets, and every
/// parameter that is named like a password (JSON-RPC 2.0 §4).
struct JSONRPCLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        // From the middle, the first call that is whole begins a line.
        let start =
            client.first == 0x7B
            ? 0 : client.firstIndex(ofRun: [0x0A, 0x7B], from: 0).map { $0 + 1 }
        guard let start, client.contains(run: Array("\"method\"".utf8)) else { return [] }
        var reader = JSONRPCLoginReader(bytes: start == 0 ? client : Array(client[start...]))
        reader.readAll()
        return reader.found
    }

    private let bytes: [UInt8]
    private var found: [ClearLogin] = []
    private var call = Call()
    /// Of the member that is read, behind those around it.
    private var names: [[UInt8]] = [[]]

    private var depth: Int { names.count - 1 }
    private var name: [UInt8] { names[depth] }
    /// Whether what is read is a parameter by its place.
    private var isPositional: Bool { depth == 2 && call.isParameters && name == Self.parameters }

    private struct Call {
        var method = ""
        var isParameters = false
        var positional: [ArraySlice<UInt8>] = []
        var user: [UInt8]?
        var secrets: [(name: [UInt8], value: [UInt8])] = []
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func readAll() {
        var tokens = JSONTokenizer(depthLimit: 64, isSequence: true)
        do throws(JSONViolation) {
            while found.count < ClearLogin.countLimit, let token = try tokens.next(in: bytes.span) {
                take(token)
            }
        } catch {
            // What came before the flaw was read.
        }
    }

    private mutating func take(_ token: JSONToken) {
        switch token.kind {
        case .beginObject, .beginArray:
            addPositional([])
            names.append(name)
        case .endObject, .endArray:
            names.removeLast()
            if depth == 0 { endCall() }
        case .name:
            names[depth] = token.text(in: bytes)
            if depth == 1 { call.isParameters = name == Self.parameters }
        case .string where token.isWhole: take(text: token.text(in: bytes))
        case .string, .number, .true, .false, .null: addPositional([])
        }
    }

    private mutating func take(text: [UInt8]) {
        if depth == 1, name.elementsEqual("method".utf8) { call.method = text.lowercasedBytes.text }
        addPositional(text[...])
        guard depth > 1, call.isParameters else { return }
        if SecretName.reported(name) == .password {
            if call.secrets.count < ClearLogin.countLimit { call.secrets.append((name, text)) }
        } else if Self.userNames.contains(name.lowercasedBytes.text) {
            call.user = call.user ?? text
        }
    }

    /// In a list the name is that of the list.
    private mutating func addPositional(_ value: ArraySlice<UInt8>) {
        if isPositional, call.positional.count < 8 { call.positional.append(value) }
    }

    private mutating func endCall() {
        defer { (call, names) = (Call(), [[]]) }
        guard !call.method.isEmpty else { return }
        // What is named `pass` alone may say that something has passed.
        for (name, value) in call.secrets
        where call.user != nil || name.lowercasedBytes != Self.pass {
            add(user: call.user?[...], secret: value[...])
        }
        guard let known = Self.calls[call.method] else { return }
        func argument(_ place: Int) -> ArraySlice<UInt8>? {
            call.positional.indices.contains(place) ? call.positional[place] : nil
        }
        for place in known.secrets {
            add(user: known.user.flatMap(argument), secret: argument(place) ?? [])
        }
    }

    private mutating func add(user: ArraySlice<UInt8>?, secret: ArraySlice<UInt8>) {
        guard var login = ClearLogin(.jsonRPC, .call, user: user, secret: secret) else { return }
        // Pools know miners by their names, and take anything: `x`, or settings such as `d=512`.
        login.isGuest =
            Self.poolCalls.contains(call.method)
            && (secret.count == 1 || secret.dropFirst().first == 0x3D)
        found.append(login)
    }

    /// Where the name and the secrets stand among the parameters of calls that are known.
    private static let calls: [String: (user: Int?, secrets: [Int])] = [
        "mining.authorize": (0, [1]), "eth_submitlogin": (0, [1]),
        "personal_unlockaccount": (0, [1]), "personal_newaccount": (nil, [0]),
        "personal_importrawkey": (nil, [0, 1]), "personal_sendtransaction": (nil, [1]),
        "personal_signtransaction": (nil, [1]), "personal_sign": (1, [2]),
        "walletpassphrase": (nil, [0]), "walletpassphrasechange": (nil, [0, 1]),
        "encryptwallet": (nil, [0]), "importprivkey": (nil, [0]),
    ]
    private static let poolCalls: Set = ["mining.authorize", "eth_submitlogin", "login"]
    private static let pass = Array("pass".utf8)
    private static let parameters = Array("params".utf8)
    private static let userNames: Set = ["user", "username", "login", "email", "account"]
}
