internal import Base

/// AMQP 0-9-1: SASL's PLAIN in connection.start-ok (§1.4.2.2).
enum AMQPLoginReader {
    static func logins(client: [UInt8]) -> [ClearLogin] {
        var cursor = ByteCursor(client[...])
        guard cursor.bytes(8)?.elementsEqual(Array("AMQP".utf8) + [0, 0, 9, 1]) == true,
            cursor.number(1) == 1, cursor.number(2) == 0, let payload = cursor.vector(4)
        else { return [] }
        var method = ByteCursor(payload)
        guard method.number(2) == 10, method.number(2) == 11, method.vector(4) != nil,
            let mechanism = method.vector(1), let response = method.vector(4),
            mechanism.lowercasedBytes.text == "plain",
            let login = ClearLogin(.amqp, .startOkPlain, plain: response)
        else { return [] }
        return [login]
    }
}
