internal import Base
internal import HTTPModel
internal import HTTPServer
internal import Pushes

/// `POST /3/device/<token>`: what Apple's push service answers to providers.
struct PushRoutes {
    let service: PushService

    var routes: [Route] {
        let methods: [RequestMethod] = [.post, .get, .put, .patch, .delete]
        return [
            Route(methods, "/3/device/:token") { request, body in
                await push(request, body)
            },
            Route(methods, "/3/*") { request, _ in
                let isShort =
                    request.match.rest.first?.elementsEqual("device".utf8) == true
                    && request.match.rest.dropFirst().allSatisfy(\.isEmpty)
                return refusal(isShort ? .missingDeviceToken : .badPath, id: nil)
            },
        ] + PushControlRoutes(service: service).routes
    }

    private func push(_ request: ServerRequest, _ body: RequestBody) async -> ServerResponse {
        guard request.version == .http2 else {
            return ServerResponse(
                505, type: "text/plain; charset=utf-8", "the push service takes HTTP/2 only\n")
        }
        var id: String?
        do throws(PushRequest.Refusal) {
            let push = try PushRequest(request, id: &id)
            if let answer = service.orderedAnswer() {
                return refusal(
                    answer.reason, id: id,
                    endsConnection: answer.endsConnection || answer.reason.endsConnection)
            }
            let (found, reason) = service.registration(push, request)
            guard let found, reason == nil else {
                return refusal(reason ?? .badDeviceToken, id: id, since: found?.end?.at)
            }
            if let reason = service.refusal(request, topic: push.topic) {
                return refusal(reason, id: id)
            }
            return await accept(push, found, request, body)
        } catch {
            return refusal(error.reason, id: id)
        }
    }

    private func accept(
        _ push: PushRequest, _ found: PushService.Registration, _ request: ServerRequest,
        _ body: RequestBody
    ) async -> ServerResponse {
        let payload: [UInt8]
        do throws(Failure) {
            payload = try await body.collect(byteLimit: PushType.payloadLimit(push.type))
        } catch {
            return error.code == "request-too-large"
                ? refusal(.payloadTooLarge, id: push.id) : .unreadable(error)
        }
        guard !payload.isEmpty else { return refusal(.payloadEmpty, id: push.id) }
        let number = service.nextNumber()
        let id = push.id ?? Self.identifier(number, seed: service.seed)
        let now = request.milliseconds
        let latest = now + Self.storageLimit
        let notification = PushNotification(
            number: number, id: id, token: push.token, topic: push.topic, type: push.type,
            priority: push.priority, collapseID: push.collapseID,
            expiry: push.expiration.map { $0 == 0 ? latest : min($0 * 1000, latest) } ?? latest,
            isStorable: push.expiration != 0, payload: payload)
        service.accept(notification, for: found.device, now: now)
        var response = ServerResponse(200, [ResponseField("apns-id", id)])
        if request.pushEnvironment == .sandbox {
            response.fields.append(
                ResponseField(
                    "apns-unique-id", Self.identifier(number, seed: ~service.seed)))
        }
        return response
    }

    private func refusal(
        _ reason: PushReason, id: String?, since: Int64? = nil, endsConnection: Bool = false
    ) -> ServerResponse {
        var members = [JSONText.Member("reason", .string(reason.rawValue))]
        if reason.status == 410, let since {
            members.append(JSONText.Member("timestamp", .integer(since)))
        }
        let text = JSONText.object(members).line
        var fields = [ResponseField("Content-Type", FileType.json)]
        fields.append(
            ResponseField(
                "apns-id", id ?? Self.identifier(service.nextNumber(), seed: service.seed)))
        var response = ServerResponse(reason.status, fields, body: .bytes(text))
        if endsConnection {
            var delivery = Delivery()
            // Behind the answer: clients give up at once what is open when they read it.
            delivery.goAway = Delivery.GoAway(at: UInt64(text.count), detail: text)
            response.delivery = delivery
        }
        return response
    }

    private static func identifier(_ number: UInt64, seed: UInt64) -> String {
        UUIDText.text(seed: seed, number).uppercased()
    }

    /// In milliseconds: 30 days.
    private static let storageLimit: Int64 = 30 * 86_400_000
}
