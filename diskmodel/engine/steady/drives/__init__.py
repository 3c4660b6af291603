"""What drives of each kind hold when counting begins (rules Z5, F18, G9)."""
