internal import Base
internal import Contents
internal import HTTPModel
internal import HTTPServer
internal import Synchronization

/// `/managed/<app>/…`: a dictionary that an app reads, and the feedback that it leaves, as a
/// management server has both.
final class ManagedRoutes: Sendable {
    private let apps = Mutex<[String: ManagedApp]>([:])

    func reset() { apps.withLock { $0 = [:] } }

    var routes: [Route] {
        [
            .get("/managed/:app/configuration", configuration),
            Route([.put, .delete], "/managed/:app/configuration") { request, body in
                guard request.isLocal else { return .plain(403) }
                return await self.configure(request, body)
            },
            Route([.post], "/managed/:app/feedback") { request, body in
                await self.tell(request, body)
            },
            // One request reads and erases: what is told meanwhile is in the next.
            Route([.get, .delete], "/managed/:app/feedback") { request, _ in
                request.isLocal ? self.feedback(request) : .plain(403)
            },
            .get("/managed/:app/licence", licence),
            Route([.put, .delete], "/managed/:app/licence") { request, _ in
                request.isLocal ? self.license(request) : .plain(403)
            },
        ]
    }

    /// The dictionary of an app by its identifier, as a value of a property list.
    func propertyList(_ app: String) -> PropertyListText? {
        apps.withLock { $0[app]?.configuration }.flatMap { JSONDocument($0) }.map {
            PropertyListText($0, JSONDocument.root)
        }
    }

    // MARK: What the server tells

    private func configuration(_ request: ServerRequest) -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]),
            let known = apps.withLock({ $0[app] }), let object = known.configuration
        else { return .plain(404) }
        let isList = request.path.queryValue("format")?.text == "plist"
        let bytes =
            isList
            ? JSONDocument(object).map { PropertyListText($0, JSONDocument.root).document } ?? []
            : object + [0x0A]
        var representation = Representation(
            contentType: isList ? FileType.propertyList : FileType.json, bytes: bytes,
            validators: Validators(
                entityTag: EntityTag("managed-\(known.version)\(isList ? "-plist" : "")"),
                lastModified: nil))
        representation.cacheControl = "no-cache"
        return representation.response(to: request)
    }

    private func configure(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]) else { return .plain(404) }
        var object: [UInt8]?
        if request.method == .put {
            do throws(Failure) {
                let content = try await body.collect(byteLimit: Self.byteLimit)
                guard let document = JSONDocument(content),
                    document[JSONDocument.root].kind == .object
                else { return .words(400, "a configuration is a JSON object") }
                var canonical: [UInt8] = []
                document.append(JSONDocument.root, to: &canonical)
                object = canonical
            } catch {
                return .unreadable(error)
            }
        }
        return change(app) { known in
            known.configure(object)
            return ServerResponse(204)
        }
    }

    // MARK: What the app tells

    private func tell(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]) else { return .plain(404) }
        do throws(Failure) {
            guard let document = JSONDocument(try await body.collect(byteLimit: Self.byteLimit))
            else { return .words(400, "feedback is a JSON object") }
            return change(app) { known in
                known.tell(document)
                    ? ServerResponse(204)
                    : .words(400, "feedback is a JSON object of at most 256 counts and short texts")
            }
        } catch {
            return .unreadable(error)
        }
    }

    private func feedback(_ request: ServerRequest) -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]) else { return .plain(404) }
        let told = apps.withLock { apps -> [String: ManagedApp.FeedbackValue]? in
            request.method == .delete ? apps[app]?.takeFeedback() : apps[app]?.feedback
        }
        let members = (told ?? [:]).sorted { $0.key < $1.key }.map {
            JSONText.Member($0.key, $0.value.json)
        }
        return json(200, .object(members))
    }

    // MARK: Licences

    /// Good for all apps until it is revoked, and for 30 days more.
    private func licence(_ request: ServerRequest) -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]) else { return .plain(404) }
        let revokedAt = apps.withLock { $0[app]?.revokedAt }
        let end = revokedAt.map { $0 + ManagedApp.grace }
        let isOver = end.map { request.seconds >= $0 } ?? false
        let state = isOver ? "expired" : revokedAt == nil ? "valid" : "revoked"
        return json(
            isOver ? 403 : 200,
            [
                "app": .string(app), "state": .string(state), "revokedAt": .optional(revokedAt),
                "expiresAt": .optional(end),
            ])
    }

    /// DELETE revokes it, PUT gives it back.
    private func license(_ request: ServerRequest) -> ServerResponse {
        guard let app = ContentName.text(request.match["app"]) else { return .plain(404) }
        return change(app) { known in
            known.revokedAt = request.method == .delete ? request.seconds : nil
            return ServerResponse(204)
        }
    }

    private func change(
        _ app: String, _ body: (inout ManagedApp) -> ServerResponse
    ) -> ServerResponse {
        apps.withLock { apps in
            guard apps[app] != nil || apps.count < Self.appLimit else { return .plain(503) }
            var known = apps[app] ?? ManagedApp()
            let response = body(&known)
            // What is refused takes nobody's place.
            if response.status < 300 { apps[app] = known }
            return response
        }
    }

    private static let byteLimit = 65_536
    private static let appLimit = 256
}

extension PropertyListText {
    /// A JSON value; `null` is left out of lists and dictionaries, for a property list has none.
    init(_ document: JSONDocument, _ place: Int) {
        switch document[place].kind {
        case .object:
            self = .dictionary(
                document.members(of: place).filter { document[$0.value].kind != .null }.map {
                    Entry(
                        [UInt8](document.key(of: $0.name)).text,
                        PropertyListText(document, $0.value))
                })
        case .array:
            self = .array(
                document.elements(of: place).filter { document[$0].kind != .null }.map {
                    PropertyListText(document, $0)
                })
        case .true: self = true
        case .false: self = false
        case .number:
            let text = [UInt8](document.spelling(of: place)).text
            self = Int64(text).map(PropertyListText.integer) ?? .real(text)
        case .string: self = .string([UInt8](document.key(of: place)).text)
        case .null: self = .string("")
        }
    }
}

/// A name that a URL gives to something that is kept: short, and plain.
enum ContentName {
    static func text(_ bytes: [UInt8]?) -> String? {
        guard let bytes, !bytes.isEmpty, bytes.count <= 100,
            bytes.allSatisfy({
                $0.isASCIILetter || $0.isASCIIDigit || [0x2D, 0x2E, 0x5F].contains($0)
            })
        else { return nil }
        return bytes.text
    }
}

extension ServerResponse {
    /// A line of text.
    static func words(_ status: Int, _ text: String) -> ServerResponse {
        ServerResponse(status, type: "text/plain; charset=utf-8", "\(text)\n")
    }
}
