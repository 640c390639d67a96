// Traffic
