#if GUIDED
    // What the compiler calls at each comparison of two numbers, for libFuzzer's table of them. The
    // table took half of the time of readers that look at each byte, and found them nothing: they
    // compare with bytes, which the counters lead to, and with words, which the format tells.

    @_cdecl("__wrap___sanitizer_cov_trace_cmp1")
    func traceCmp1(_ one: UInt8, _ other: UInt8) {}

    @_cdecl("__wrap___sanitizer_cov_trace_cmp2")
    func traceCmp2(_ one: UInt16, _ other: UInt16) {}

    @_cdecl("__wrap___sanitizer_cov_trace_cmp4")
    func traceCmp4(_ one: UInt32, _ other: UInt32) {}

    @_cdecl("__wrap___sanitizer_cov_trace_cmp8")
    func traceCmp8(_ one: UInt64, _ other: UInt64) {}

    @_cdecl("__wrap___sanitizer_cov_trace_const_cmp1")
    func traceConstCmp1(_ one: UInt8, _ other: UInt8) {}

    @_cdecl("__wrap___sanitizer_cov_trace_const_cmp2")
    func traceConstCmp2(_ one: UInt16, _ other: UInt16) {}

    @_cdecl("__wrap___sanitizer_cov_trace_const_cmp4")
    func traceConstCmp4(_ one: UInt32, _ other: UInt32) {}

    @_cdecl("__wrap___sanitizer_cov_trace_const_cmp8")
    func traceConstCmp8(_ one: UInt64, _ other: UInt64) {}
#endif
