"""What a pool holds when counting begins: its ARC, its cache devices, and a transaction group (rules Z4, Z12, Z13)."""
