extension ConnectionRecord {
    /// The connection as its exchanges need it: without what is large and was looked at already.
    package var withoutBulk: ConnectionRecord {
        var record = self
        record.clientTLS = record.clientTLS.map(\.withoutBulk)
        record.originTLS = record.originTLS.map(\.withoutBulk)
        return record
    }
}

extension TLSRecord {
    fileprivate var withoutBulk: TLSRecord {
        var record = self
        record.clientHello = []
        record.chain = []
        record.clientChain = []
        record.keyLog = []
        return record
    }
}
