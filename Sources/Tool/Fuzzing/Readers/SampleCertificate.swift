internal import Base

/// A certificate for `a.example`, issued by itself; nobody has its key.
let sampleCertificate: [UInt8] =
    Base64.decode(
        """
        MIIB5TCCAYygAwIBAgIUJh7jRoijOuhewti20+Y8nWjp5towCgYIKoZIzj0EAwIwMzELMAkGA1UE\
        BhMCWFgxEDAOBgNVBAoMB0V4YW1wbGUxEjAQBgNVBAMMCWEuZXhhbXBsZTAgFw0yNjExMjIxNTMw\
        MjRaGA8yMTI2MTAyOTE1MzAyNFowMzELMAkGA1UEBhMCWFgxEDAOBgNVBAoMB0V4YW1wbGUxEjAQ\
        BgNVBAMMCWEuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABB67scqp7uOH3mVqzmXN\
        ZFX/a9yG+TGkwvezHIpSfRlin33yLJoDWUGcnwx8h++Da39U9V9Z9c8IFQybvcu1VzKjfDB6MB0G\
        A1UdDgQWBBQpXCShAKSmVruSdEKRqiDKYERgzjAfBgNVHSMEGDAWgBQpXCShAKSmVruSdEKRqiDK\
        YERgzjAPBgNVHRMBAf8EBTADAQH/MCcGA1UdEQQgMB6CCWEuZXhhbXBsZYILKi5iLmV4YW1wbGWH\
        BH8AAAEwCgYIKoZIzj0EAwIDRwAwRAIgJmF4fCQErzTag/oJYFpAI4wZlL1NwmfHKtQOCuPXroQC\
        IH8Xv5KKIFtztziBizEMew8R4npBnKQgLiiIMDzY0QDY
        """.utf8) ?? []
