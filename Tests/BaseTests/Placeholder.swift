// Base
